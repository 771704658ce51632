// Drives `athenan gtp` as the Go board Sabaki does, by npm's @sabaki/gtp: node sabaki.js COMMAND …
const { Controller } = require('@sabaki/gtp')

async function main() {
  const [command, ...words] = process.argv.slice(2)
  const engine = new Controller(command, words)
  engine.start()
  const ask = async (name, args = []) => {
    const answer = await engine.sendCommand({ name, args })
    if (answer.error) throw new Error(`${name} ${args}: ${answer.content}`)
    return answer.content
  }
  for (const name of ['name', 'version', 'protocol_version', 'list_commands']) await ask(name)
  await ask('boardsize', ['7'])
  await ask('clear_board')
  await ask('komi', ['7.5'])
  const moves = []
  for (let i = 0; i < 6; i++) moves.push(await ask('genmove', ['BW'[i % 2]]))
  const lines = []
  const analysis = engine.sendCommand({ name: 'lz-analyze', args: ['B', '5'] }, evt => {
    if (evt.line.startsWith('info move')) lines.push(evt.line)
    if (lines.length === 3) engine.process.stdin.write('\n')
  })
  await analysis
  const score = await ask('final_score')
  await ask('undo')
  await engine.stop()
  console.log(JSON.stringify({ moves, analysed: lines.length, first: lines[0].slice(0, 40), score }))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
